/// The type that a reply or a signal must have, which is compared before anything looks at its values.
///
/// No call can be made without one: a provider may answer with anything, and GLib ends the process, or
/// never calls back, where a value is taken for what it is not.
enum BusType: Sendable {
  /// No values.
  case nothing

  /// These values: their types, as D-Bus writes them, one after the other.
  ///
  /// What a variant among them holds is not read.
  case values(String)

  /// A property of this type.
  case property(String)

  /// The properties of an object, by their names. Properties of other names are not read.
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
