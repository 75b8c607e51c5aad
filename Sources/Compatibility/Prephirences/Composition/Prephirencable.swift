/// A type that has its own preferences, under a prefix in those of the process.
///
/// ```swift
/// enum Editor: Prephirencable {
///   enum Font: Prephirencable {
///     static var parent: any PreferencesType { Editor.instance }
///   }
/// }
///
/// Editor.Font.mutableInstance?["size"] = 12  // the key is "editor.font.size"
/// ```
public protocol Prephirencable {
  /// The prefix. The default is the type's name with a small first letter, followed by a dot.
  static var key: String { get }

  /// The preferences that contain these; by default ``Prephirences/sharedInstance``.
  static var parent: any PreferencesType { get }
}

extension Prephirencable {
  /// The prefix: the type's name with a small first letter, followed by a dot.
  public static var key: String {
    let name = String(describing: self)
    return name.prefix(1).lowercased() + name.dropFirst() + "."
  }

  /// The preferences that contain these: ``Prephirences/sharedInstance``.
  public static var parent: any PreferencesType { Prephirences.sharedInstance }

  /// The preferences of the type.
  ///
  /// They can be changed if the parent can, so that nested types can also be changed.
  public static var instance: any PreferencesType {
    mutableInstance ?? ProxyPreferences(preferences: parent, key: key)
  }

  /// The preferences of the type; `nil` if the parent cannot be changed.
  public static var mutableInstance: (any MutablePreferencesType)? {
    (parent as? any MutablePreferencesType).map {
      MutableProxyPreferences(preferences: $0, key: key)
    }
  }
}
