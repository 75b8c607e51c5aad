internal import Prephirences

/// Values of a file that this process does not change, and what the file was like.
struct LoadedValues {
  let values: [KeyBytes: Any]
  let stamps: [FileStamp?]

  var dictionary: PreferencesDictionary {
    PreferencesDictionary(values.map { ($0.text, $1) }) { _, last in last }
  }
}
