import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainCommands
@testable import KeychainVault
@testable import PrephirencesCommandLine

@Suite("Grades and reports of a vault's protection")
struct DiagnosisTests {
  @Test func vaultOfTheDeviceAloneIsWeak() {
    #expect(Diagnosis.grade(Self.status([Self.slot(.device, .administers)])) == .weak)
  }

  @Test func passphraseAtFullCostIsStrong() {
    let slots = [Self.slot(.device, .openTier), Self.slot(.passphrase, .administers, .moderate)]
    #expect(Diagnosis.grade(Self.status(slots)) == .strong)
  }

  @Test func weakestSlotThatOpensEverythingDecides() {
    let cheap = Self.slot(.passphrase, .administers, .interactive)
    #expect(Diagnosis.grade(Self.status([cheap, Self.slot(.keyFile, .administers)])) == .fair)
    #expect(Diagnosis.grade(Self.status([cheap, Self.slot(.device, .administers)])) == .weak)
  }

  @Test func noVaultHasNoGrade() {
    #expect(Diagnosis.grade(Self.status([], exists: false)) == nil)
  }

  @Test(
    arguments: [
      (nil, "locked"), (.nothing, "locked; items that need no unlock are readable"),
      (.unlockedSinceBoot, "locked; afterFirstUnlock items are readable"),
      (.unlockedNow, "unlocked, for 15m more"),
    ] as [(Accessibility.UnlockRequirement?, String)])
  func stateIsReported(_ readable: Accessibility.UnlockRequirement?, _ words: String) {
    var status = Self.status([])
    status.readable = readable
    status.cachedFor = .seconds(900)
    #expect(VaultText.state(of: status) == words)
  }

  @Test func vaultThatNothingOpensIsAProblem() {
    var status = Self.status([Self.slot(.device, .administers, isThisDevice: false)])
    #expect(Diagnosis.problem(of: status)?.code == .locked)
    status.readable = .unlockedNow
    #expect(Diagnosis.problem(of: status) == nil)
    status = Self.status([
      Self.slot(.device, .openTier, isThisDevice: false),
      Self.slot(.passphrase, .administers, .moderate),
    ])
    #expect(Diagnosis.problem(of: status) == nil)
  }

  @Test func slotsAreListed() {
    let slots = [Self.slot(.device, .openTier), Self.slot(.passphrase, .administers, .moderate)]
    #expect(
      SlotText.table(slots, deviceKeyExists: true).lines == """
        1\tdevice (this one)\twhat needs no unlock\t\t
        1\tpassphrase\teverything\t\t256 MiB, 3 passes

        """)
  }

  @Test func membersAreListedWithTheirRights() {
    let slots = [
      Self.slot(.recipient, .administers, name: "alice"), Self.slot(.recipient, .readsAndWrites),
      Self.slot(.recipient, .reads), Self.slot(.recoveryCode, .administers),
    ]
    #expect(
      SlotText.table(slots, isShared: true, deviceKeyExists: true).lines == """
        1\trecipient\tadminister\talice\t
        1\trecipient\twrite\t\t
        1\trecipient\tread\t\t
        1\trecovery code\tadminister\t\t

        """)
    #expect(SlotNames.label(of: slots[0]) == "recipient 'alice'")
  }

  @Test func lossesConsiderCodesAndIdentities() {
    let device = Self.slot(.device, .administers)
    let gone = Self.slot(.device, .administers, isThisDevice: false)
    let code = Self.slot(.recoveryCode, .administers)
    let identity = Self.slot(.recipient, .administers)
    #expect(Self.loss("device.key", [device])?.contains("everything is lost") == true)
    #expect(Self.loss("device.key", [device, code])?.hasPrefix("nothing is lost") == true)
    #expect(Self.loss("the recovery code", [device, code])?.hasPrefix("nothing") == true)
    #expect(
      Self.loss("the recovery code", [gone, code])
        == "everything is lost, unless the device key of slot 1 is found")
    #expect(Self.loss("the recovery code", [code]) == "everything is lost")
    #expect(Self.loss("the recovery code", [code, code])?.hasPrefix("nothing") == true)
    #expect(Self.loss("the identity", [gone, identity, code])?.hasPrefix("nothing") == true)
    #expect(
      Self.loss("the identity", [Self.slot(.device, .openTier), identity])
        == "everything is lost except what needs no unlock")
    #expect(Self.loss("the identity", [device, code]) == nil)
  }

  @Test func placesThatDoNotStayAreNamed() {
    var status = Self.status([])
    status.fileSystem = "ext4"
    #expect(DiagnosisText.passingPlace(status) == nil)
    status.fileSystem = "overlay"
    #expect(DiagnosisText.passingPlace(status)?.contains("goes with the container") == true)
    status.fileSystem = "tmpfs"
    #expect(status.isInMemory)
    #expect(DiagnosisText.passingPlace(status)?.hasPrefix("in memory") == true)
  }

  private static func loss(_ what: String, _ slots: [VaultSlot]) -> String? {
    let status = status(slots)
    let words = status.losses.map { DiagnosisText.words(for: $0, status) }
    return words.first { $0.0 == "without \(what)" }?.1
  }

  private static func status(_ slots: [VaultSlot], exists: Bool = true) -> VaultStatus {
    var status = VaultStatus(
      path: "/vault", exists: exists, wasSeen: exists, isCacheAvailable: true,
      deviceSecretPath: "/device.key", hasDeviceSecret: true, seenRecord: .current,
      seenRecordPath: "/seen", isOnNetwork: false, isReadOnly: false, unlockSources: [],
      mayAsk: false)
    status.slots = slots
    return status
  }

  private static func slot(
    _ kind: SlotKind, _ grant: SlotGrant, _ cost: PasswordHash.Parameters? = nil,
    isThisDevice: Bool = true, name: String = ""
  ) -> VaultSlot {
    VaultSlot(
      number: 1, kind: kind, grant: grant, passwordHash: cost,
      isThisDevice: kind == .device ? isThisDevice : nil, name: name)
  }
}
