@main
struct PortedSettings {
  static func main() {}
}
