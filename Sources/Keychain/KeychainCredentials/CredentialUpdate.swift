public import FoundationEssentials
internal import PrephirencesSystem

/// The change of a field that may be absent.
@frozen public enum FieldChange<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The field stays as it is.
  case keep

  /// The field gets a value.
  case set(Value)

  /// The field becomes absent.
  case clear

  package func apply(to field: inout Value?) {
    switch self {
    case .keep: break
    case .set(let value): field = value
    case .clear: field = nil
    }
  }
}

/// The changes of a credential.
///
/// Everything else stays.
///
public struct CredentialUpdate: Sendable {
  /// The new accessibility; `nil` keeps the old one.
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

  /// Creates an update; each argument is the property of its name.
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
