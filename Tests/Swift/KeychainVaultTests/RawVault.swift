import Foundation
import KeychainCredentials
import KeychainVaultFormat
import KeychainVaultTesting

@testable import KeychainVault

/// A vault's file, as a program changes it that checks nothing.
struct RawVault {
  let vault: TestVault
  let contents: VaultContents
  let admin: VaultAdministration

  /// All keys.
  var keys: TierKeys { admin.epoch.keys }

  /// What somebody has who got the device key of a vault that is locked without its passphrase.
  var openTier: TierKeys { keys.openTierOnly }

  /// Opens a vault by a handle whose secret administers it.
  init(_ vault: TestVault, _ handle: Vault) throws {
    self.vault = vault
    admin = try handle.administration()
    contents = try admin.session.file.contentsAsFarAsGood(admin.session.opened, admin.epoch.keys)
  }

  /// Appends a commit that is sealed with the keys of somebody.
  func append(
    _ keys: TierKeys, _ body: (inout VaultWriter) throws(KeychainError) -> Void
  ) throws {
    var writer = VaultWriter(contents, ItemSealing(keys: keys, device: nil))
    try body(&writer)
    let (_, _, frame) = try writer.sealed()
    let file = try FileHandle(forUpdating: URL(filePath: vault.path))
    try file.seek(toOffset: UInt64(contents.end))
    try file.write(contentsOf: frame)
    try file.close()
  }

  /// The next base of the vault, as somebody makes it who has all keys but the administration key.
  func base() throws -> NewBase { try NewBase(contents, keys) }

  /// Puts a file with a new base in place of the vault.
  func replace(by base: NewBase) throws {
    let new = vault.path + ".forged"
    let file = try LinuxDisk().makeTemporary(new)
    _ = try BaseWriter.write(base, to: file, path: vault.path)
    file.mark(isUnfinished: false)
    _ = try LinuxDisk().exchange(new, vault.path)
    try LinuxDisk().remove(new)
  }

  /// The place of the box of an item's secret.
  func boxPlace(of account: String) throws -> Int {
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test(account))
    guard case .stored(let part, let index)? = try contents.item(id, keys, name: account)?.source
    else { throw CocoaError(.fileReadNoSuchFile) }
    return part.boxPlaces[index]
  }

  /// How often each tier has an item.
  func tiers(of account: String) throws -> [Tier] {
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test(account))
    return try Tier.allCases.filter { try contents.item(id, in: $0, keys) != nil }
  }
}

extension TestVault {
  /// The whole file.
  var bytes: Data { get throws { try Data(contentsOf: URL(filePath: path)) } }

  /// Changes a byte in place, as a bad disk does.
  func damage(at place: Int) throws {
    let byte = try bytes[place]
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: Data([byte ^ 1]))
    try file.close()
  }

  /// Copies the file to another place.
  @discardableResult
  func copy(to name: String = "copy.db") throws -> String {
    let copy = folder.path + "/" + name
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  /// Puts a copy in place of the vault.
  func restore(_ copy: String) throws {
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: copy, toPath: path)
  }

  /// Where the parts of the file lie.
  var lengths: VaultHead.Lengths { get throws { try handle().existingSession().head.lengths } }
}
