// Command lua runs a health check as Argo CD does: in gopher-lua, with the few libraries that Argo CD opens.
// It reads {"script": "...", "objects": [...]} and prints the list of results.
// https://github.com/argoproj/argo-cd/blob/master/util/lua/lua.go
package main

import (
	"encoding/json"
	"log"
	"os"

	lua "github.com/yuin/gopher-lua"
)

type input struct {
	Script  string `json:"script"`
	Objects []any  `json:"objects"`
}

func main() {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		log.Fatal(err)
	}
	results := []any{}
	for _, object := range given.Objects {
		result, err := health(given.Script, object)
		if err != nil {
			log.Fatal(err)
		}
		results = append(results, result)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

// Each object gets a fresh state, without files, processes or the network.
func health(script string, object any) (map[string]string, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		call := lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	state.SetGlobal("obj", valueOf(state, object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	result := map[string]string{}
	if table, ok := state.Get(-1).(*lua.LTable); ok {
		table.ForEach(func(key, value lua.LValue) { result[key.String()] = value.String() })
	}
	return result, nil
}

// Converts decoded JSON. Numbers of JSON are numbers of Lua.
func valueOf(state *lua.LState, value any) lua.LValue {
	switch typed := value.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		list := state.CreateTable(len(typed), 0)
		for _, item := range typed {
			list.Append(valueOf(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(typed))
		for key, item := range typed {
			table.RawSetString(key, valueOf(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
