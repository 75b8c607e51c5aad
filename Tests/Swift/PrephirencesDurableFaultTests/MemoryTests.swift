import FaultTesting
import Testing

@Suite("Memory", .timeLimit(.minutes(14)))
struct MemoryTests {
  @Test func longValuesDoNotAddUp() throws {
    let home = try TestHome()
    let child = try Child(in: home)
    for number in 0..<300 { #expect(child.ask("set key\(number) x1000000") == []) }
    for number in 0..<300 { #expect(child.ask("get key\(number)").count == 1) }
    #expect(child.ask("memory").first.flatMap { Int($0) } ?? .max < 200)
  }
}
