public import Foundation
internal import Synchronization

/// What all preferences of the process share.
open class Prephirences {
  private static let coders = Mutex((decoder: JSONDecoder(), encoder: JSONEncoder()))

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
