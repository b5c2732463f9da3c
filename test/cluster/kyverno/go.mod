// The release of Kyverno whose kinds the tests install. Nothing of it is compiled.
module reeve.dev/test/kyverno

go 1.26.4

require github.com/kyverno/kyverno v1.19.1
