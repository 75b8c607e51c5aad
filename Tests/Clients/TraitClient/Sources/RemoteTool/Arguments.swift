import Foundation
import RemotePrephirences

/// The arguments of the tests.
struct Arguments {
  let url: String
  private let values: [String: String]

  init(_ arguments: ArraySlice<String>) {
    url = arguments.first ?? ""
    values = Dictionary(
      arguments.dropFirst().map { argument in
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
      }, uniquingKeysWith: { $1 })
  }

  subscript(name: String) -> String? { values[name] }

  var format: SerializationFormat { self["format"] == "plist" ? .propertyList() : .json() }

  var options: RemoteOptions {
    var options = RemoteOptions()
    options.allowsPlainHTTP = self["plain"] != "no"
    options.copyPath = self["copy"]
    if let limit = self["limit"].flatMap({ Int($0) }) { options.sizeLimit = limit }
    if let retries = self["retries"].flatMap({ Int($0) }) { options.retries = retries }
    if let seconds = self["timeout"].flatMap(Double.init) { options.timeout = .seconds(seconds) }
    if let header = self["authorization"] { options.headers = ["Authorization": header] }
    if let required = self["require"] {
      options.validate = { values in
        if values[required] == nil { throw Missing(key: required) }
      }
    }
    return options
  }
}

struct Missing: Error {
  let key: String
}
