public import KeychainCredentials

// Other spellings of the same things, which published documents and programs use.
extension KeychainPreferences {
  /// When values that are set from now on can be read; another spelling of ``accessibility``.
  public var accessible: Accessibility {
    get { accessibility }
    set { accessibility = newValue }
  }

  /// Returns the text of a key, and `nil` for a failure; another spelling of ``string(forKey:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The text, or `nil`.
  public func stringForKey(_ key: String) -> String? { string(forKey: key) }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension Accessibility {
  /// Another spelling of ``whenUnlocked``.
  public static var AccessibleWhenUnlocked: Self { .whenUnlocked }

  /// Another spelling of ``whenUnlockedThisDeviceOnly``.
  public static var AccessibleWhenUnlockedThisDeviceOnly: Self { .whenUnlockedThisDeviceOnly }

  /// Another spelling of ``afterFirstUnlock``.
  public static var AccessibleAfterFirstUnlock: Self { .afterFirstUnlock }

  /// Another spelling of ``afterFirstUnlockThisDeviceOnly``.
  public static var AccessibleAfterFirstUnlockThisDeviceOnly: Self {
    .afterFirstUnlockThisDeviceOnly
  }

  /// Another spelling of ``always``.
  public static var AccessibleAlways: Self { .always }

  /// Another spelling of ``alwaysThisDeviceOnly``.
  public static var AccessibleAlwaysThisDeviceOnly: Self { .alwaysThisDeviceOnly }

  /// Another spelling of ``whenPasscodeSetThisDeviceOnly``.
  public static var AccessibleWhenPasscodeSetThisDeviceOnly: Self {
    .whenPasscodeSetThisDeviceOnly
  }
}
