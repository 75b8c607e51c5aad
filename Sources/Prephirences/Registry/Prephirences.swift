public import Foundation
internal import Synchronization

/// What all preferences of the process share.
open class Prephirences {
  private static let coders = Mutex((decoder: JSONDecoder(), encoder: JSONEncoder()))
  private static let shared = Guarded<any PreferencesType>(SinglePreference(nil))

  @usableFromInline static var fallback: any MutablePreferencesType { SinglePreference(nil) }

  /// The preferences that are used where no others are given.
  public static var sharedInstance: any PreferencesType {
    get { shared.withLock { $0 } }
    set { shared.withLock { $0 = newValue } }
  }

  /// The preferences that are used where no others are given, if they can be changed.
  public static var sharedMutableInstance: (any MutablePreferencesType)? {
    sharedInstance as? any MutablePreferencesType
  }

  /// The decoder of values for which no other is given.
  public static var jsonDecoder: JSONDecoder {
    get { coders.withLock(\.decoder) }
    set { coders.withLock { $0.decoder = newValue } }
  }

  /// The encoder of values for which no other is given.
  public static var jsonEncoder: JSONEncoder {
    get { coders.withLock(\.encoder) }
    set { coders.withLock { $0.encoder = newValue } }
  }
}
