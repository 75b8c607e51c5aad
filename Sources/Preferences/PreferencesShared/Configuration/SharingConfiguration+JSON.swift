internal import Foundation
internal import Prephirences

extension SharingConfiguration {
  /// The fields of the file, which are also their names in errors.
  enum Field: String, CodingKey, CaseIterable {
    case address, store, certificateAuthority, certificate, key, user, passwordFile
    case passwordReference, proxy, quotaKeys, quotaBytes, programDecides, machine
  }

  /// Reads the text of a file.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidAddress``, and the name of
  ///   the field that cannot be used.
  init(json: Data, path: String) throws(PreferencesError) {
    do {
      self = try JSONDecoder().decode(StrictForm.self, from: json).configuration
    } catch {
      throw PreferencesError(
        .invalidAddress, "the settings of sharing cannot be used: \(Self.reason(error)): \(path)")
    }
  }

  /// The text of a file.
  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(StrictForm(configuration: self)) + [UInt8(ascii: "\n")]
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as UnknownField: "the field '\(error.name)' is unknown"
    case DecodingError.keyNotFound(let key, _): "the field '\(key.stringValue)' is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      context.codingPath.last.map { "the field '\($0.stringValue)' has a value of another type" }
        ?? "it is not an object"
    case DecodingError.dataCorrupted(let context):
      context.codingPath.last.map { "the field '\($0.stringValue)' has no usable value" }
        ?? "it is not JSON"
    default: "it is not JSON"
    }
  }
}

private struct UnknownField: Error {
  let name: String
}

/// The configuration as JSON, in which nothing unknown is overlooked: a misspelt name would share
/// without what it was to set.
private struct StrictForm: Codable {
  var configuration: SharingConfiguration

  private struct AnyField: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(configuration: SharingConfiguration) { self.configuration = configuration }

  init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: AnyField.self).allKeys.map(\.stringValue)
    let known = Set(SharingConfiguration.Field.allCases.map(\.rawValue))
    if let unknown = names.sorted().first(where: { !known.contains($0) }) {
      throw UnknownField(name: unknown)
    }
    let fields = try decoder.container(keyedBy: SharingConfiguration.Field.self)
    configuration = SharingConfiguration(
      address: try fields.decode(String.self, forKey: .address))
    configuration.store = try fields.decodeIfPresent(String.self, forKey: .store)
    configuration.certificateAuthority = try fields.decodeIfPresent(
      String.self, forKey: .certificateAuthority)
    configuration.certificate = try fields.decodeIfPresent(String.self, forKey: .certificate)
    configuration.key = try fields.decodeIfPresent(String.self, forKey: .key)
    configuration.user = try fields.decodeIfPresent(String.self, forKey: .user)
    configuration.passwordFile = try fields.decodeIfPresent(String.self, forKey: .passwordFile)
    configuration.passwordReference = try fields.decodeIfPresent(
      String.self, forKey: .passwordReference)
    configuration.proxy = try fields.decodeIfPresent(String.self, forKey: .proxy)
    configuration.quotaKeys = try fields.decodeIfPresent(Int.self, forKey: .quotaKeys)
    configuration.quotaBytes = try fields.decodeIfPresent(Int.self, forKey: .quotaBytes)
    configuration.programDecides = try fields.decodeIfPresent(Bool.self, forKey: .programDecides)
    configuration.machine = try fields.decodeIfPresent(String.self, forKey: .machine)
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: SharingConfiguration.Field.self)
    try fields.encode(configuration.address, forKey: .address)
    try fields.encodeIfPresent(configuration.store, forKey: .store)
    try fields.encodeIfPresent(configuration.certificateAuthority, forKey: .certificateAuthority)
    try fields.encodeIfPresent(configuration.certificate, forKey: .certificate)
    try fields.encodeIfPresent(configuration.key, forKey: .key)
    try fields.encodeIfPresent(configuration.user, forKey: .user)
    try fields.encodeIfPresent(configuration.passwordFile, forKey: .passwordFile)
    try fields.encodeIfPresent(configuration.passwordReference, forKey: .passwordReference)
    try fields.encodeIfPresent(configuration.proxy, forKey: .proxy)
    try fields.encodeIfPresent(configuration.quotaKeys, forKey: .quotaKeys)
    try fields.encodeIfPresent(configuration.quotaBytes, forKey: .quotaBytes)
    try fields.encodeIfPresent(configuration.programDecides, forKey: .programDecides)
    try fields.encodeIfPresent(configuration.machine, forKey: .machine)
  }
}
