/// What errors may say about a value that cannot be read: where it differs, but nothing of its
/// contents.
enum StoredFailure {
  /// Returns why a value could not be decoded.
  ///
  /// - Parameter error: The error of the decoder, or of the type itself; it may quote the value.
  /// - Returns: The reason, with the field; `nil` if there is nothing to say.
  static func description(of error: any Error) -> String? {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context):
      "there is no field '\(path(context.codingPath + [key]))'"
    case .valueNotFound(_, let context):
      field(context).map { "the field '\($0)' has no value" }
    case .typeMismatch(let type, let context):
      field(context).map { "the field '\($0)' is no \(type)" }
    case .dataCorrupted(let context):
      field(context).map { "the field '\($0)' has a value that its type does not take" }
        ?? "it is not valid JSON, or not what the type takes"
    default: nil
    }
  }

  private static func field(_ context: DecodingError.Context) -> String? {
    let text = path(context.codingPath)
    return text.isEmpty ? nil : text
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce("") { path, key in
      switch name(of: key) {
      case .field(let name): path.isEmpty ? name : "\(path).\(name)"
      case .element(let index): "\(path)[\(index)]"
      case .wrapper: path
      }
    }
  }

  private enum Name {
    case field(String)
    case element(String)

    /// A key of the stored form, which programs do not know.
    case wrapper
  }

  /// Returns what an error may call a key.
  ///
  /// The cases of an enumeration are part of the program. Other keys, such as those of a
  /// dictionary, belong to the value, and may be as secret as the rest.
  private static func name(of key: any CodingKey) -> Name {
    if key is StoredNode.Key { return .wrapper }
    let mirror = Mirror(reflecting: key)
    if mirror.displayStyle == .enum, mirror.children.isEmpty { return .field(key.stringValue) }
    // The keys of a dictionary of numbers are numbers, too, but only decoders name positions in
    // this way.
    if let place = key.intValue, key.stringValue == "Index \(place)" {
      return .element(String(place))
    }
    return .element("…")
  }
}
