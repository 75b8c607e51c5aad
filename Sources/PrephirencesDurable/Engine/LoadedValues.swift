internal import Prephirences

/// Values of a file that this process does not change, and what the file was like.
struct LoadedValues {
  let values: [KeyBytes: Any]
  let stamps: [FileStamp?]
  /// Whether the file is shared with other machines.
  var isShared = false
}
