// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The key in the user info of a notification for why values have changed: an `NSNumber`.
public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"

/// The key in the user info of a notification for the keys that have changed, also by removal: an
/// array of strings.
public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"

/// The reason that another machine has changed values.
public var NSUbiquitousKeyValueStoreServerChange: Int { 0 }

/// The reason that the store was in step for the first time.
public var NSUbiquitousKeyValueStoreInitialSyncChange: Int { 1 }

/// The reason that a change was refused, because the store would have too many keys or bytes.
public var NSUbiquitousKeyValueStoreQuotaViolationChange: Int { 2 }

/// The reason that the store follows another shared store from now on.
public var NSUbiquitousKeyValueStoreAccountChange: Int { 3 }
