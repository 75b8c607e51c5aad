import Foundation
import Palau
import Prephirences
import PrephirencesDurable
import SwiftyUserDefaults
import Testing
import TypedDefaults

@Suite("A program in Swift 6 mode that imports everything")
struct CanaryTests {
  @Test func everyFacadeWritesOneSuite() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryHome {
        let defaults = DurableUserDefaults(Program.settings)
        let program = Program(
          defaults: DefaultsAdapter(defaults: defaults, keyStore: DefaultsKeys()))
        program.defaults.launches = 1
        program.defaults.launches += 1
        PalauDefaults.launches.value? += 1
        Program.launches.value? += 1
        #expect(program.defaults[\.launches] == 4)
        PalauDefaults.theme.value = .dark
        #expect(program.defaults.theme == .dark)
        program.defaults.hosts = ["a"]
        PalauDefaults.hosts.value?.append("b")
        #expect(program.defaults.hosts == ["a", "b"])
        Program.window.set(Window(width: 3, title: "a"))
        #expect(program.defaults.window == Window(width: 3, title: "a"))
        program.enabled = true
        #expect(program.enabled == true)
        #expect(useUserDefaults(defaults))
        let works = try (useDurable(Program.settings), useCipher(defaults))
        #expect(works == (true, true))
      }
    }
  }

  @Test func defaultStoresAreTheSame() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryHome {
        Defaults[\.launches] = 5
        let launches: PalauDefaultsEntry<Int> = PalauDefaults.value("launches")
        #expect(launches.value == 5)
        PersistentStore<Window>().set(Window(width: 1, title: "b"))
        #expect(Defaults.window?.title == "b")
        #expect(DurablePreferences.standard.integer(forKey: "launches") == 5)
      }
    }
  }

  @Test func tasksShareTheAdapter() async {
    let adapter = DefaultsAdapter(
      preferences: MutableDictionaryPreferences(dictionary: [:]), keyStore: DefaultsKeys())
    await withTaskGroup(of: Void.self) { group in
      for name in ["a", "b"] { group.addTask { adapter.name = name } }
    }
    #expect(["a", "b"].contains(adapter.name))
  }

  @Test func actorsKeepAndEndObservations() async {
    let adapter = DefaultsAdapter(
      preferences: MutableDictionaryPreferences(dictionary: [:]), keyStore: DefaultsKeys())
    let counter = Counter(adapter)
    let screen = await Screen(adapter)
    await screen.appear()
    adapter.name = "a"
    await counter.count()
    while await counter.seen.isEmpty { await Task.yield() }
    #expect(await counter.seen == [1])
    while await screen.titles != ["a", "nobody"] { await Task.yield() }
  }
}

/// Lets the process use a home that is removed afterwards.
func withTemporaryHome(_ body: () throws -> Void) throws {
  let home = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(
    at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: home) }
  setenv("HOME", home.path, 1)
  setenv("XDG_CONFIG_HOME", home.path + "/config", 1)
  try body()
}
