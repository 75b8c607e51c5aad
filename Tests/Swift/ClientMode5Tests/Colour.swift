// swift-format-ignore-file
import Foundation

/// Represents a UIKit colour: an object that can only be archived.
public class UIColor: NSObject, NSCoding {
  let components: [Double]

  init(_ components: [Double]) { self.components = components }

  public required init?(coder: NSCoder) {
    components = ["red", "green", "blue"].map { coder.decodeDouble(forKey: $0) }
  }

  public func encode(with coder: NSCoder) {
    for (name, component) in zip(["red", "green", "blue"], components) {
      coder.encode(component, forKey: name)
    }
  }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? UIColor)?.components == components
  }

  public override var hash: Int { components.hashValue }

  static var red: UIColor { UIColor([1, 0, 0]) }
  static var blue: UIColor { UIColor([0, 0, 1]) }
  static func redColor() -> UIColor { red }
  static func blueColor() -> UIColor { blue }
}
