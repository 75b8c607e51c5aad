internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// An export that was opened by its passphrase, and can be read more than once.
struct ExportFile: ~Copyable {
  private let input: ReplayableInput
  private let key: ExportKey

  init(_ input: ReplayableInput, _ key: consuming ExportKey) {
    self.input = input
    self.key = key
  }

  /// What a first reading tells, by which nothing is done yet.
  struct Survey {
    var itemCount = 0
    var leftOutCount = 0

    /// What must be unlocked to put the items into a vault.
    var requirement = Accessibility.UnlockRequirement.nothing
  }

  /// Reads all of the export, and checks that it is whole and says nothing twice.
  ///
  /// The input stands behind the beginning of the file.
  borrowing func survey() throws(KeychainError) -> Survey {
    var survey = Survey()
    var content = try ExportContent(ExportReader(input, key))
    var names: Set<[UInt64]> = []
    while let credential = try content.nextCredential() {
      let identity = credential.identity
      let name = try Derivation.hash(Data(MetadataCoding.identityFields(identity)), count: 16)
      let halves = [0, 8].map { name.bytes.littleEndian(at: $0, as: UInt64.self) }
      guard names.insert(halves).inserted else {
        throw .damagedExport("it holds \(identity) twice")
      }
      survey.itemCount += 1
      survey.requirement = max(survey.requirement, credential.accessibility.unlockRequirement)
    }
    survey.leftOutCount = Int(clamping: content.leftOutCount)
    return survey
  }

  /// Reads all of the export again, item by item.
  ///
  /// When this returns, the end of the export has been seen.
  borrowing func forEachItem(
    _ body: (borrowing ExportedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try translated(input.rewind())
    _ = try translated(input.read(key.beginning.count))
    var content = try ExportContent(ExportReader(input, key))
    while let item = try content.next() { try body(item) }
  }
}
