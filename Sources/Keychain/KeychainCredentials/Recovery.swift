extension KeychainError {
  /// What to do about a failure.
  ///
  /// A recovery is text that names actions as values, so that each reader gets the names of its own
  /// interface: ``description`` names the library's API, and commands name themselves. A program looks for
  /// an action:
  ///
  /// ```swift
  /// if error.recovery?.actions.contains(.unlock) == true { try vault.unlock() }
  /// ```
  ///
  /// Authors of stores write it as a string, with actions as interpolations:
  ///
  /// ```swift
  /// throw KeychainError(.damaged, "the row is damaged", recovery: "run \(.verify), and restore a backup")
  /// ```
  ///
  /// Text alone, without an action, is advice that involves nothing of this package, such as a command of
  /// the system.
  public struct Recovery: Hashable, Sendable {
    fileprivate enum Part: Hashable, Sendable {
      case words(String)
      case action(Action)
    }

    private let parts: [Part]

    fileprivate init(parts: [Part]) {
      self.parts = parts
    }

    /// Advice without an action.
    ///
    /// - Parameter words: What to do, without a capital and without a full stop. Never a secret.
    /// - Returns: The recovery.
    public static func advice(_ words: String) -> Self { Self(parts: [.words(words)]) }

    /// The actions that the text names, in its order.
    public var actions: [Action] {
      parts.compactMap { if case .action(let action) = $0 { action } else { nil } }
    }

    /// Returns the text.
    ///
    /// - Parameter name: Returns how the reader's interface names an action.
    /// - Returns: The text, without a capital and without a full stop.
    public func text(naming name: (Action) -> String) -> String {
      parts.map { part in
        switch part {
        case .words(let words): words
        case .action(let action): name(action)
        }
      }.joined()
    }

    /// Returns one recovery that continues with another.
    ///
    /// - Parameters:
    ///   - first: The beginning.
    ///   - second: What follows it immediately.
    /// - Returns: Both.
    public static func + (first: Self, second: Self) -> Self {
      Self(parts: first.parts + second.parts)
    }
  }
}

extension KeychainError.Recovery: CustomStringConvertible {
  /// The text, with actions as the names of the library's API.
  public var description: String { text(naming: \.description) }
}

extension KeychainError.Recovery: ExpressibleByStringInterpolation {
  /// The recovery of a plain text.
  public init(stringLiteral text: String) {
    self = .advice(text)
  }

  /// The recovery of a text that names actions.
  public init(stringInterpolation text: StringInterpolation) {
    self.init(parts: text.parts)
  }

  /// Collects the words and the actions of a recovery.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    /// An empty text.
    public init(literalCapacity: Int, interpolationCount: Int) {
      parts.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends words.
    public mutating func appendLiteral(_ words: String) {
      if !words.isEmpty { parts.append(.words(words)) }
    }

    /// Appends an action.
    public mutating func appendInterpolation(_ action: Action) {
      parts.append(.action(action))
    }

    /// Appends words, such as a path.
    public mutating func appendInterpolation(_ words: String) {
      appendLiteral(words)
    }

    /// Appends a number.
    public mutating func appendInterpolation(_ number: some BinaryInteger) {
      appendLiteral("\(number)")
    }
  }
}

extension Sequence<KeychainError.Recovery> {
  /// Returns the recoveries as one, with a text between them.
  ///
  /// Returns one recovery; `nil` if there is none to join.
  package func joined(separator: String) -> KeychainError.Recovery? {
    reduce(nil) { joined, next in
      joined.map { $0 + .advice(separator) + next } ?? next
    }
  }
}

/// What is said of several failures.
extension KeychainError.Recovery {
  /// To call again.
  public static var tryAgain: Self { "try again" }

  /// To restore a backup.
  public static var restoreBackup: Self { "restore a backup" }

  /// To find out whether a change has happened, before it is repeated.
  package static var lookFirst: Self {
    "look with \(.status), \(.read) or \(.listSlots) before you repeat it; keep every key, file and "
      + "code that may be needed"
  }

  /// To unlock the vault.
  public static var unlock: Self { "run \(.unlock)" }

  /// To unlock the vault, or to give its passphrase without anybody who is asked.
  package static var unlockOrGivePassphrase: Self {
    "run \(.unlock), or give a passphrase by KEYCHAIN_PASSPHRASE_FILE"
  }

  /// To see what is damaged, and restore it.
  public static var verify: Self { "run \(.verify), and restore a backup" }

  /// To see the slots of the vault.
  package static var listSlots: Self { "see the slots with \(.listSlots)" }

  /// To see what opens the vault.
  package static var listWhatOpens: Self { "see what opens it with \(.listSlots)" }

  /// To make the vault.
  package static var createVault: Self {
    "make the vault with \(.createVault(startingAnew: false))"
  }

  /// To add a passphrase to the vault.
  public static var addPassphrase: Self { "add one with \(.addSlot(.passphrase))" }

  /// To choose a store, where the recorded choice cannot be read.
  public static var nameStore: Self {
    "say which store is meant with \(.nameStore) or KEYCHAIN_STORE"
  }

  /// To choose a store, and remove the file that recorded it.
  package static var nameStoreAndRemoveRecord: Self {
    nameStore + ", look there, and remove the file"
  }

  /// To choose a store, where the record cannot be read without the device key.
  package static var nameStoreOrRestoreDeviceKey: Self {
    "put device.key back from a backup, or " + nameStore
  }

  /// To look at a vault that is there, or let something more open it.
  package static var showOrAddSlot: Self {
    "see it with \(.status), or let more open it with \(.addSlot(nil))"
  }

  /// To use the newest release.
  package static var useNewerRelease: Self { "use a newer release" }

  /// To choose a name that is not taken.
  package static var nameNewFile: Self { "name a new file" }

  /// To choose a name that is not taken, or make room under the one that was given.
  package static var nameNewFileOrRemoveThis: Self {
    nameNewFile + ", or remove this one if it is no longer needed"
  }

  /// To open the vault in each call, where it cannot stay unlocked.
  package static var giveKeyEachTime: Self {
    "give what unlocks the vault each time: a key file, which needs neither time nor memory, by "
      + "KEYCHAIN_KEY_FILE, or a passphrase by KEYCHAIN_PASSPHRASE_FILE"
  }
}
