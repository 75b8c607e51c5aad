/// Prevents the compiler from removing unused work.
@inline(never)
@_optimize(none)
func keep<Value>(_ value: Value) {}
