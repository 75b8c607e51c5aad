package import Foundation

/// Reads property lists that anybody may have made.
///
/// Foundation alone would not do: sets in a binary property list stop the process, and so do too
/// many levels, and references of archives are read as objects that are no values.
package enum PropertyListReader {
  package typealias Format = PropertyListSerialization.PropertyListFormat

  /// Returns the root of a property list, and how it is written; `nil` if the data is none.
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
