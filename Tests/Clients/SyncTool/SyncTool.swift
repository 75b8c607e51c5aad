internal import Foundation
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesShared

/// A machine of the tests: it uses the preferences in its environment as they are told by lines.
///
/// `SyncTool SUITE [plain|shared|local|taking|greatest|failing]`: durable preferences alone, or shared ones
/// with a decision about conflicts. Each line is a JSON array with a command and its arguments; the
/// answer is a JSON object. Objects with the field `event` come at any time.
@main
enum SyncTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let suite = arguments.first else { exit(64) }
    let session = Session(Store(suite, arguments.count > 1 ? arguments[1] : "shared"))
    while let line = readLine() {
      guard let words = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any] else {
        exit(64)
      }
      report(session.answer(words))
    }
  }
}
