internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// An export that was opened with its passphrase.
///
/// It can be read more than once.
struct ExportFile: ~Copyable {
  private let input: ReplayableInput
  private let key: ExportKey

  init(_ input: ReplayableInput, _ key: consuming ExportKey) {
    self.input = input
    self.key = key
  }

  /// What a first pass over the export finds, before anything is changed.
  struct Survey {
    var itemCount = 0
    var leftOutCount = 0

    /// The requirement that must be met to put the items into a vault.
    var requirement = Accessibility.UnlockRequirement.nothing
  }

  /// Reads the whole export, and checks that it is complete, contains no item twice, and has no item
  /// with longer texts than a store takes.
  ///
  /// The input must be positioned after the head of the file.
  borrowing func survey() throws(KeychainError) -> Survey {
    var survey = Survey()
    var content = try ExportContent(ExportReader(input, key))
    var names: Set<[UInt64]> = []
    var tooLong: [String] = []
    while let credential = try content.nextCredential() {
      let identity = credential.identity
      let name = try Derivation.hash(Data(MetadataCoding.identityFields(identity)), count: 16)
      let halves = [0, 8].map { name.bytes.littleEndian(at: $0, as: UInt64.self) }
      guard names.insert(halves).inserted else {
        throw .damagedExport("it holds \(identity) twice")
      }
      if credential.exceedsMetadataLimit { tooLong.append(identity.shortDescription) }
      survey.itemCount += 1
      survey.requirement = max(survey.requirement, credential.accessibility.unlockRequirement)
    }
    if let error = KeychainError(
      tooLong: tooLong, recovery: "shorten their texts where they come from, and export again")
    {
      throw error
    }
    survey.leftOutCount = Int(clamping: content.leftOutCount)
    return survey
  }

  /// Reads the whole export again, item by item.
  ///
  /// When this returns, the export was complete.
  borrowing func forEachItem(
    _ body: (borrowing ExportedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try translated(input.rewind())
    _ = try translated(input.read(key.beginning.count))
    var content = try ExportContent(ExportReader(input, key))
    while let item = try content.next() { try body(item) }
  }
}
