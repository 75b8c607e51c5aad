public import FoundationEssentials

/// What an update does to a field that may be absent.
public enum FieldChange<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The field stays as it is.
  case keep

  /// The field gets a value.
  case set(Value)

  /// The field becomes absent.
  case clear

  /// Applies the change to a field.
  package func apply(to field: inout Value?) {
    switch self {
    case .keep: break
    case .set(let value): field = value
    case .clear: field = nil
    }
  }
}

/// What an update changes in a credential; everything else stays.
public struct CredentialUpdate: Sendable {
  /// The new accessibility.
  public var accessibility: Accessibility?

  /// The change of the label.
  public var label: FieldChange<String>

  /// The change of the comment.
  public var comment: FieldChange<String>

  /// The change of the content type.
  public var contentType: FieldChange<String>

  /// The change of the expiry.
  public var expires: FieldChange<Date>

  /// The changes of attributes, by name: `nil` removes the attribute.
  public var attributes: [(name: String, value: String?)]

  /// Creates an update.
  ///
  /// - Parameters:
  ///   - accessibility: The new accessibility; `nil` keeps the old.
  ///   - label: The change of the label.
  ///   - comment: The change of the comment.
  ///   - contentType: The change of the content type.
  ///   - expires: The change of the expiry.
  ///   - attributes: The changes of attributes; a `nil` value removes an attribute.
  public init(
    accessibility: Accessibility? = nil, label: FieldChange<String> = .keep,
    comment: FieldChange<String> = .keep, contentType: FieldChange<String> = .keep,
    expires: FieldChange<Date> = .keep, attributes: [(name: String, value: String?)] = []
  ) {
    self.accessibility = accessibility
    self.label = label
    self.comment = comment
    self.contentType = contentType
    self.expires = expires
    self.attributes = attributes
  }

  /// Returns the credential with the changes applied; for authors of stores.
  ///
  /// - Parameter credential: The current credential.
  /// - Returns: The changed credential.
  public func applied(to credential: Credential) -> Credential {
    var changed = credential
    if let accessibility { changed.accessibility = accessibility }
    label.apply(to: &changed.label)
    comment.apply(to: &changed.comment)
    contentType.apply(to: &changed.contentType)
    expires.apply(to: &changed.expires)
    for attribute in attributes { changed.attributes[attribute.name] = attribute.value }
    return changed
  }
}
