internal import Foundation
public import KeychainCredentials
internal import KeychainStores
internal import Synchronization

extension KeychainPreferences {
  /// The default store: the desktop keyring or the vault, as ``AutomaticStore`` chooses for each
  /// service.
  ///
  /// The whole process shares one handle.
  public static let defaultStore: any CredentialStore = AutomaticStore()

  private static let shared = Mutex<KeychainPreferences?>(nil)

  /// The preferences of this program, which can be replaced.
  ///
  /// Their service is the identifier of the main bundle, or the name of the executable if it has
  /// none, as is usual on Linux.
  public static var sharedInstance: KeychainPreferences {
    get {
      shared.withLock { shared in
        let instance = shared ?? KeychainPreferences(service: programName)
        shared = instance
        return instance
      }
    }
    set { shared.withLock { $0 = newValue } }
  }

  private static var programName: String {
    Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent
      ?? ProcessInfo.processInfo.processName
  }
}
