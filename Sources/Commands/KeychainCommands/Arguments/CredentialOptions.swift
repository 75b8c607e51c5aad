internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// The options that describe a credential, for commands that write one.
struct CredentialOptions: QuickArguments {
  @Option(
    help: .init(
      "When the secret is readable; a new one whenUnlocked unless given", valueName: "name"),
    completion: .list(Accessibility.allCases.map(\.description)),
    transform: CredentialOptions.accessibility)
  var accessibility: Accessibility?

  @Option(
    parsing: .unconditional, help: .init("A name for people; empty for none", valueName: "text"))
  var label: String?

  @Option(
    parsing: .unconditional, help: .init("A remark for people; empty for none", valueName: "text"))
  var comment: String?

  @Option(help: .init("What the secret is, as a media type; empty for none", valueName: "type"))
  var contentType: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("A pair that searches match; may be repeated", valueName: "name=value"),
    transform: AttributePair.init(parsing:))
  var attribute: [AttributePair] = []

  @Option(
    help: .init(
      "When the secret expires: a date (2027-01-31, which is its first moment, or "
        + "2027-01-31T12:00) in local time, or with Z or an offset (2027-01-31T12:00:00Z), "
        + "a time from now (90d, 12h, 1w, 1y) or never",
      valueName: "when"),
    transform: Expiry.init(parsing:))
  var expires: Expiry?

  mutating func read(_ line: inout QuickLine) throws {
    accessibility = try line.option("accessibility", as: Self.accessibility)
    label = try line.option("label")
    comment = try line.option("comment")
    contentType = try line.option("content-type")
    attribute = try line.options("attribute").map(AttributePair.init(parsing:))
    expires = try line.option("expires", as: Expiry.init(parsing:))
  }

  static func accessibility(_ text: String) throws -> Accessibility {
    guard let accessibility = Accessibility(text) else {
      throw ValidationError(UsageText.accessibility)
    }
    return accessibility
  }

  /// Returns the changes that the options request; everything else stays.
  func update(removing names: [String] = []) -> CredentialUpdate {
    CredentialUpdate(
      accessibility: accessibility, label: Self.change(label), comment: Self.change(comment),
      contentType: Self.change(contentType),
      expires: expires.map { $0.date().map(FieldChange.set) ?? .clear } ?? .keep,
      attributes: names.map { ($0, nil) } + attribute.map { ($0.name, $0.value) })
  }

  /// Returns the changes that the options request together with a new secret.
  ///
  /// The expiry and the content type belong to the secret: if they are not given, the old ones are
  /// removed, except an expiry that should be kept.
  func updateOfSecret(keepingExpiry keepsExpiry: Bool) -> CredentialUpdate {
    var update = update()
    if update.contentType == .keep { update.contentType = .clear }
    if update.expires == .keep, !keepsExpiry { update.expires = .clear }
    return update
  }

  /// The hint about an expiry that was set.
  var hint: String? {
    guard let seconds = expires?.date()?.timeIntervalSinceNow.rounded(.up) else { return nil }
    guard seconds > 0 else { return CredentialOptions.alreadyExpired }
    // The person may have meant months.
    return seconds < 3600 ? CredentialOptions.expiresSoon(.seconds(seconds)) : nil
  }

  var isGiven: Bool {
    accessibility != nil || expires != nil || !attribute.isEmpty
      || [label, comment, contentType].contains { $0 != nil }
  }

  private static func change(_ text: String?) -> FieldChange<String> {
    text.map { $0.isEmpty ? .clear : .set($0) } ?? .keep
  }
}

extension CredentialOptions {
  static func expiresSoon(_ time: Duration) -> String {
    "--expires: the secret expires in \(Words.time(time)); m is minutes, and 30d about a month"
  }

  static let alreadyExpired =
    "--expires: that is in the past; 'get' prints the secret with --allow-expired only"
}

/// When a secret stops being valid: the value of the option `--expires`.
enum Expiry: Hashable, Sendable {
  /// At a date.
  case at(Date)

  /// Some time after now.
  case after(Duration)

  /// Never.
  case never

  /// Parses a date, a duration or `never`.
  init(parsing text: String) throws {
    if text == "never" {
      self = .never
    } else if let date = DateText.parse(text) {
      self = .at(date)
    } else if let duration = DurationText.parse(text) {
      self = .after(duration)
    } else {
      throw ValidationError(UsageText.expiry)
    }
  }

  /// Returns the date, or `nil` for never.
  func date(from now: Date = Date()) -> Date? {
    switch self {
    case .at(let date): date
    case .after(let duration): now.addingTimeInterval(duration / .seconds(1))
    case .never: nil
    }
  }
}

/// A pair `name=value`, the value of the option `--attribute`.
struct AttributePair: Hashable, Sendable {
  let name: String
  let value: String

  /// Parses a pair; the first equals sign ends the name.
  init(parsing text: String) throws {
    let parts = text.utf8.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw ValidationError(UsageText.attribute)
    }
    name = String(Substring(parts[0]))
    value = String(Substring(parts[1]))
  }
}

extension CredentialAttributes {
  /// Creates attributes; of equal names, the last wins.
  init(_ pairs: [AttributePair]) {
    self.init()
    for pair in pairs { self[pair.name] = pair.value }
  }
}

/// What a member of a shared vault may do, as an argument.
///
/// Programs depend on these words, so they don't follow names in the code.
enum SharedGrant: String, ExpressibleByArgument, CaseIterable {
  case administer, write, read

  /// The word for a grant; `nil` if no member of a shared vault can have it.
  init?(_ grant: SlotGrant) {
    switch grant {
    case .administers: self = .administer
    case .readsAndWrites: self = .write
    case .reads: self = .read
    case .openTier: return nil
    }
  }

  var grant: SlotGrant {
    switch self {
    case .administer: .administers
    case .write: .readsAndWrites
    case .read: .reads
    }
  }
}
