public import KeychainCredentials

// Other names for the same things, which published documents and programs use.
extension KeychainPreferences {
  /// When values that are set from now on can be read; another name for ``accessibility``.
  public var accessible: Accessibility {
    get { accessibility }
    set { accessibility = newValue }
  }

  /// Returns the text of a key, or `nil` for a failure; another name for ``string(forKey:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The text, or `nil`.
  public func stringForKey(_ key: String) -> String? { string(forKey: key) }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension Accessibility {
  /// Another name for ``whenUnlocked``.
  public static var AccessibleWhenUnlocked: Self { .whenUnlocked }

  /// Another name for ``whenUnlockedThisDeviceOnly``.
  public static var AccessibleWhenUnlockedThisDeviceOnly: Self { .whenUnlockedThisDeviceOnly }

  /// Another name for ``afterFirstUnlock``.
  public static var AccessibleAfterFirstUnlock: Self { .afterFirstUnlock }

  /// Another name for ``afterFirstUnlockThisDeviceOnly``.
  public static var AccessibleAfterFirstUnlockThisDeviceOnly: Self {
    .afterFirstUnlockThisDeviceOnly
  }

  /// Another name for ``always``.
  public static var AccessibleAlways: Self { .always }

  /// Another name for ``alwaysThisDeviceOnly``.
  public static var AccessibleAlwaysThisDeviceOnly: Self { .alwaysThisDeviceOnly }

  /// Another name for ``whenPasscodeSetThisDeviceOnly``.
  public static var AccessibleWhenPasscodeSetThisDeviceOnly: Self {
    .whenPasscodeSetThisDeviceOnly
  }
}
