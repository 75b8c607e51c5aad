package import Foundation

extension Data {
  /// Copies bytes.
  ///
  /// Foundation's initializer for any sequence first looks for a protocol that the sequence may have.
  package init(copying bytes: [UInt8]) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }

  /// Copies some of the bytes.
  init(copying bytes: ArraySlice<UInt8>) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }

  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }
}
