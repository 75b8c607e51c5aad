internal import Foundation
internal import KeychainStores

extension UserInterface {
  /// `1 item`, `2 items`.
  static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

  static func are(_ count: Int) -> String { count == 1 ? "is" : "are" }

  static func locked(_ count: Int) -> String { "\(items(count)) \(are(count)) locked" }

  /// How to see what is locked, in the kinds of store that were searched.
  static func unlockToSee(_ kinds: Set<StoreKind>) -> String {
    let command = howToUnlock
    guard kinds.contains(.secretService) else { return "\(command) to see them" }
    let keyring = "unlock the desktop keyring where the desktop is"
    return (kinds.contains(.vault) ? "\(command), or \(keyring)," : keyring) + " to see them"
  }

  static let onlyOfVault =
    "KEYCHAIN_STORE=secret-service concerns credentials; this is about the vault"

  static func ofOtherDevices(_ count: Int) -> String {
    "\(items(count)) \(are(count)) bound to another device"
  }

  static let keptNewline =
    "the secret ends with a newline, which is kept; --trim-newline drops it"

  static let alreadyExpired =
    "--expires: that is in the past; 'get' prints the secret with --allow-expired only"

  /// The expiry of an older secret went with it.
  static func expiryIsGone(_ expiry: Date) -> String {
    "the expiry \(DateText.text(expiry)) went with the old secret"
  }

  /// How the new secret gets an expiry; one that has passed is of no use to it.
  static func keepingExpiry(_ expiry: Date) -> String {
    expiry > Date()
      ? "--expires gives the new secret one, and --keep-expiry keeps that of the old one"
      : "--expires gives the new secret one"
  }

  static let keptExpiryHasPassed =
    "the expiry that was kept has passed; 'get' prints the secret with --allow-expired only"

  static let secretOnInput = "lead the secret into it, or leave it to the terminal"
  static let exportOnInput = "name the file of the export, or lead it into standard input"

  static let emptySecret = "the secret is empty"

  static let insecureValue =
    "--insecure-value shows the secret to other processes and to the shell's history"

  /// `1h 30m`, `45s`.
  static func time(_ duration: Duration) -> String {
    let seconds = Int(duration.components.seconds)
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
    let shown = parts.filter { $0.0 > 0 }.prefix(2).map { "\($0.0)\($0.1)" }
    return shown.isEmpty ? "0s" : shown.joined(separator: " ")
  }
}
