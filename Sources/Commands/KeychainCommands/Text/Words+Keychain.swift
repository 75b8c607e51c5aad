internal import PrephirencesCommandLine

extension Words {
  static func locked(_ count: Int) -> String { "\(items(count)) \(are(count)) locked" }

  static func ofOtherDevices(_ count: Int) -> String {
    "\(items(count)) \(are(count)) bound to another device"
  }
}
