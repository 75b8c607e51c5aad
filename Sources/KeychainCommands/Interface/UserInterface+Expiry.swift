internal import KeychainStores

extension UserInterface {
  /// How many credentials have expired or do so soon; nothing where none does.
  static func expiry(_ diagnosis: Diagnosis) -> [(String, String)] {
    guard let expiry = diagnosis.expiry, expiry.needsAttention else { return [] }
    let unknown =
      expiry.unknownCount == 0
      ? "" : "; \(locked(expiry.unknownCount)), so not looked at"
    return [
      (
        "expiry",
        "\(expiry.expiredCount) expired, \(expiry.expiringCount) within \(ExpirySummary.days) days"
          + unknown
      )
    ]
  }

  /// How to see what expires.
  static func expirySteps(_ diagnosis: Diagnosis) -> [String] {
    guard let expiry = diagnosis.expiry, expiry.needsAttention else { return [] }
    var command = "\(KeychainCommandContext.current.commandPath) list"
    if let service = diagnosis.service {
      let option = service.kind == .service ? "--service" : "--server"
      command += " \(option) \(ShellText.quoted(service.name))"
    }
    if expiry.needsAllGroups { command += " --all-groups" }
    return ["to see what expires, run '\(command) --expiring-within \(ExpirySummary.days)d'"]
  }
}
