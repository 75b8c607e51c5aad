import Foundation
import Testing
import TypedDefaults

/// The samples write the preferences of the program, so each runs in a process with its own folder.
@Suite("Samples")
struct TypedDefaultsSampleTests {
  @Test func savingCustomTypes() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryHome {
        /// Specify a custom type when initializing PersistentStore
        let userDefaults = PersistentStore<CameraConfig>()

        // Make an instance of CameraConfig
        var cs = CameraConfig([:])!

        // Set
        userDefaults.set(cs)
        // Get
        #expect(userDefaults.get()?.size == .Medium)

        /// Change the size
        cs.size = .Large

        // Set
        userDefaults.set(cs)
        // Get
        #expect(userDefaults.get()?.size == .Large)
        #expect(userDefaults.syncronize())
        #expect(PersistentStore<CameraConfig>().get()?.size == .Large)
      }
    }
  }

  @Test func dependencyInjection() {
    let tests = CameraViewControllerTests()
    tests.setUp()
    #expect(tests.viewController.config.get()?.size == .Medium)
    tests.viewController.config.remove()
    #expect(tests.viewController.config.get() == nil)
  }

  @Test func persistentStoreByDefault() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryHome {
        let controller = CameraViewController()
        #expect(controller.config.get() == nil)
        controller.config.set(CameraConfig(["cameraRoll": false])!)
        #expect(PersistentStore<CameraConfig>().get()?.saveToCameraRoll == false)
      }
    }
  }

  @Test func otherNameOfTheProtocol() {
    let store = InMemoryStore<OtherConfig>()
    #expect(store.get() == nil)
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
