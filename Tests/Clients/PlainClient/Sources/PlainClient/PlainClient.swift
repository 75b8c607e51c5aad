import Prephirences

@main
enum PlainClient {
  static func main() {
    let preferences: MutableDictionaryPreferences = ["colour": "red"]
    preferences["size"] = 3
    print(preferences.string(forKey: "colour") ?? "none", preferences.integer(forKey: "size"))
  }
}
