// swift-format-ignore-file
import Foundation
import Prephirences

func useOperatorsOnPreferences(_ others: PreferencesType, _ store: MutablePreferencesType) {
  var store = store
  store += others
  store += ["a": 1]
  store += [("a", 1)]
  store ?= [("a", 1)]
  store -= "a"
}

func useOperatorsOnOnePreference(_ number: Preference<Int>, _ text: Preference<String>) {
  let _: Bool = number ~= 1
  let _: Bool = 1 ~= number
  let _: Bool = number ~= 1...2
  let _: Bool = 1...2 ~= number
  let _: Int? = number + number
  let _: String? = text + text
  let _: Int? = number - number
  let _: Int? = number * number
  let _: Int? = number / number
  let _: Int? = number % number
  let _: Int? = number & number
  let _: Int? = number | number
  let _: Int? = number ^ number
  let _: Bool = number == number
  let _: Bool = number != number
  let _: Bool = number < number
}

func useAssignments(
  _ number: MutablePreference<Int>, _ text: MutablePreference<String>,
  _ truth: MutablePreference<Bool>
) {
  var (number, text, truth) = (number, text, truth)
  number ?= 1
  number += 1
  number -= 1
  number *= 1
  number /= 1
  number %= 1
  text += "a"
  number &= 1
  number |= 1
  number ^= 1
  number ~= 1
  truth != true
  truth &&= true
  truth ||= true
  let _: Bool = truth && true
  let _: Bool = truth || true
  var plain = true
  plain &&= false
  plain ||= true
}

func useOperatorProtocols() {
  let _: [Initializable.Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, Float.self, Double.self, CGFloat.self, String.self, [Int].self, Bool.self,
  ]
  func isAddable<T: Addable>(_: T.Type) {}
  func isLogical<T: LogicalOperationsType>(_: T.Type) {}
  func isConjunctive<T: Conjunctive & Disjunctive>(_: T.Type) {}
  isAddable(String.self)
  isAddable([Int].self)
  isLogical(Bool.self)
  isConjunctive(Bool.self)
}
