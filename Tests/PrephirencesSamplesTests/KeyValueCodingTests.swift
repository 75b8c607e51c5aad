import Foundation
import Prephirences
import Testing

@Suite("Key value coding")
struct KeyValueCodingTests {
}
