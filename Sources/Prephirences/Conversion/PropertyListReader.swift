package import Foundation

/// Reads property lists from untrusted sources.
///
/// Foundation alone is not safe: sets in a binary property list, and too many levels, stop the
/// process; references of archives are read as objects that are not values.
package enum PropertyListReader {
  package typealias Format = PropertyListSerialization.PropertyListFormat

  /// Returns the root of a property list and its format; `nil` if the data is not a property list.
  package static func read(
    _ data: Data, options: PropertyListSerialization.ReadOptions = []
  ) -> (root: Any, format: Format)? {
    var format = Format.xml
    guard isSafe(data),
      let root = try? PropertyListSerialization.propertyList(
        from: data, options: options, format: &format),
      PropertyListForm.isPlain(root)
    else { return nil }
    return (root, format)
  }

  private static func isSafe(_ data: Data) -> Bool {
    !data.starts(with: Data("bplist".utf8)) || BinaryPropertyList(data)?.isPlain == true
  }
}
