// Prints the service of the shared preferences, and the name that Foundation has for the program.

import Foundation
import Keychain

let service = KeychainPreferences.sharedInstance.service
let name =
  Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent
  ?? ProcessInfo.processInfo.processName
print(service ?? "")
print(name)
