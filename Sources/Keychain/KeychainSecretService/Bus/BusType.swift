/// The required type of a reply or a signal, which is compared before its values are read.
///
/// Every call needs one: a provider may answer with anything, and if a value is read as the wrong
/// type, GLib ends the process or never calls back.
enum BusType: Sendable {
  /// No values.
  case nothing

  /// Values of these types, concatenated as in D-Bus signatures.
  ///
  /// The content of a variant among them is not read.
  case values(String)

  /// A property of this type.
  case property(String)

  /// The properties of an object, by name.
  ///
  /// Other properties are ignored.
  case properties(required: [String: String], optional: [String: String])

  /// The type of the message's body.
  var body: String {
    switch self {
    case .nothing: "()"
    case .values(let types): "(\(types))"
    case .property: "(v)"
    case .properties: "(a{sv})"
    }
  }
}
