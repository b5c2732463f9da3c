// Runs the health checks for Argo CD in the Lua that Argo CD uses.
module reeve.dev/test/cluster/lua

go 1.26

require github.com/yuin/gopher-lua v1.1.2
