public import Foundation

// Stored as the text of `NSStringFromRect` and its siblings, which is read back exactly.

extension PreferencesType {
  /// Returns the rectangle of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The rectangle, or `nil` if the value is not the text of one.
  public func cgRect(forKey key: PreferenceKey) -> CGRect? {
    coordinates(forKey: key, count: 4).map {
      CGRect(x: $0[0], y: $0[1], width: $0[2], height: $0[3])
    }
  }

  /// Returns the size of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The size, or `nil` if the value is not the text of one.
  public func cgSize(forKey key: PreferenceKey) -> CGSize? {
    coordinates(forKey: key, count: 2).map { CGSize(width: $0[0], height: $0[1]) }
  }

  /// Returns the point of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The point, or `nil` if the value is not the text of one.
  public func cgPoint(forKey key: PreferenceKey) -> CGPoint? {
    coordinates(forKey: key, count: 2).map { CGPoint(x: $0[0], y: $0[1]) }
  }

  private func coordinates(forKey key: PreferenceKey, count: Int) -> [Double]? {
    guard let text = object(forKey: key) as? String else { return nil }
    let numbers = text.filter { !"{} ".contains($0) }
      .split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    let coordinates = numbers.compactMap(\.self)
    return coordinates.count == count && numbers.count == count ? coordinates : nil
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to a rectangle, as text.
  ///
  /// - Parameters:
  ///   - value: The rectangle.
  ///   - key: The key.
  public func set(_ value: CGRect, forKey key: PreferenceKey) {
    self[key] =
      "{{\(value.origin.x), \(value.origin.y)}, {\(value.size.width), \(value.size.height)}}"
  }

  /// Sets the value of a key to a size, as text.
  ///
  /// - Parameters:
  ///   - value: The size.
  ///   - key: The key.
  public func set(_ value: CGSize, forKey key: PreferenceKey) {
    self[key] = "{\(value.width), \(value.height)}"
  }

  /// Sets the value of a key to a point, as text.
  ///
  /// - Parameters:
  ///   - value: The point.
  ///   - key: The key.
  public func set(_ value: CGPoint, forKey key: PreferenceKey) {
    self[key] = "{\(value.x), \(value.y)}"
  }
}
