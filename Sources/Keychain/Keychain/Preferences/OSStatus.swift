public import KeychainCredentials

/// A status number of Apple's keychain.
public typealias OSStatus = Int32

/// No error.
public let errSecSuccess: OSStatus = 0

/// The disk is full, or the system could not read or write.
public let errSecIO: OSStatus = -36

/// An argument is invalid.
public let errSecParam: OSStatus = -50

/// There is too little memory.
public let errSecAllocate: OSStatus = -108

/// The person cancelled.
public let errSecUserCanceled: OSStatus = -128

/// An internal error.
public let errSecInternalComponent: OSStatus = -2070

/// The store refuses access to this item.
public let errSecNoAccessForItem: OSStatus = -25243

/// There is no store.
public let errSecNotAvailable: OSStatus = -25291

/// The passphrase or key is wrong.
public let errSecAuthFailed: OSStatus = -25293

/// The file is not a store.
public let errSecInvalidKeychain: OSStatus = -25295

/// An item of this name exists already.
public let errSecDuplicateItem: OSStatus = -25299

/// There is no such item.
public let errSecItemNotFound: OSStatus = -25300

/// The value is too large.
public let errSecDataTooLarge: OSStatus = -25302

/// The store is locked, and nobody may be asked to unlock it.
public let errSecInteractionNotAllowed: OSStatus = -25308

/// The bytes are not a value of the type asked for.
public let errSecDecode: OSStatus = -26275

/// Another process held the store until the deadline.
public let errSecServiceNotAvailable: OSStatus = -67585

/// The store is damaged, or an older copy of itself.
public let errSecInvalidDatabaseBlob: OSStatus = -67598

/// The store was written by a newer release.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600

/// The item was changed in between.
public let errSecRecordModified: OSStatus = -67638

/// The credential has expired.
public let errSecCertificateExpired: OSStatus = -67818

extension KeychainError {
  /// The number of Apple's keychain for this kind of failure, or the nearest one.
  public var status: OSStatus { Self.statuses[code] ?? errSecInternalComponent }

  private static let statuses: [Code: OSStatus] = [
    .notFound: errSecItemNotFound,
    .alreadyExists: errSecDuplicateItem,
    .versionConflict: errSecRecordModified,
    .invalidArgument: errSecParam,
    .damaged: errSecInvalidDatabaseBlob,
    .rolledBack: errSecInvalidDatabaseBlob,
    .foreign: errSecInvalidKeychain,
    .noStore: errSecNotAvailable,
    .internalFailure: errSecInternalComponent,
    .inputOutput: errSecIO,
    .timedOut: errSecServiceNotAvailable,
    .busy: errSecServiceNotAvailable,
    .ambiguous: errSecParam,
    .locked: errSecInteractionNotAllowed,
    .incorrectSecret: errSecAuthFailed,
    .refused: errSecNoAccessForItem,
    .unsupportedFormat: errSecIncompatibleDatabaseBlob,
    .otherDevice: errSecNoAccessForItem,
    .insecurePermissions: errSecNoAccessForItem,
    .tooLarge: errSecDataTooLarge,
    .expired: errSecCertificateExpired,
    .cancelled: errSecUserCanceled,
    .insufficientMemory: errSecAllocate,
    .undecodable: errSecDecode,
    .outcomeUnknown: errSecIO,
  ]
}
