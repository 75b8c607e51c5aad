// swift-format-ignore-file
import TypedDefaults

// Every public symbol of TypedDefaults, with its type. A change here breaks somebody's program.

private func useConvertible<D: DefaultConvertible>(_ value: D) {
  let _: String = D.key
  let _: (Any) -> D? = D.init(_:)
  let _: () -> Any = value.serialize
}

private func useStore<Store: DefaultStoreType>(_ store: Store) {
  let _: Store.Default.Type = Store.Default.self
  let _: (Store.Default) -> Void = store.set(_:)
  let _: () -> Store.Default? = store.get
  let _: () -> Void = store.remove
}

private func useStores<Inner: DefaultStoreType>(_ inner: Inner) where Inner.Default == CameraConfig {
  let any: AnyStore<CameraConfig> = AnyStore<CameraConfig>(inner)
  useStore(any)
  let persistent: PersistentStore<CameraConfig> = PersistentStore<CameraConfig>()
  useStore(persistent)
  let _: () -> Bool = persistent.syncronize
  useStore(InMemoryStore<CameraConfig>())
}
