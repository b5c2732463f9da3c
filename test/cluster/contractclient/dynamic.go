package main

import (
	"context"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

var shares = schema.GroupVersionResource{Group: "reeve.dev", Version: "v1alpha1", Resource: "secretshares"}

// The dynamic client for kinds of definitions: applied, watched, its status written apart.
func dynamicScenario(ctx context.Context, c clients) (seen, error) {
	client := c.dynamic.Resource(shares)
	name := c.namespace + "-share"
	// The latest state: a share is cluster-scoped, and others may have changed before.
	list, err := client.List(ctx, meta.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return nil, err
	}
	watching, err := client.Watch(ctx, meta.ListOptions{
		FieldSelector: "metadata.name=" + name, ResourceVersion: list.GetResourceVersion(),
	})
	if err != nil {
		return nil, err
	}
	defer watching.Stop()

	share := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "reeve.dev/v1alpha1", "kind": "SecretShare",
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"source":  map[string]any{"namespace": "nowhere", "name": "nothing"},
			"targets": map[string]any{"names": []any{"nobody-*"}},
		},
	}}
	applied, err := client.Apply(ctx, name, share, meta.ApplyOptions{FieldManager: "contract"})
	if err != nil {
		return nil, err
	}
	result := seen{"generation": applied.GetGeneration()}

	withStatus := applied.DeepCopy()
	withStatus.Object["status"] = map[string]any{"desired": int64(3)}
	withStatus.Object["spec"].(map[string]any)["suspend"] = true
	updated, err := client.UpdateStatus(ctx, withStatus, meta.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	result["desired"], _, _ = unstructured.NestedInt64(updated.Object, "status", "desired")
	result["specChanged"], _, _ = unstructured.NestedBool(updated.Object, "spec", "suspend")

	if err = client.Delete(ctx, name, meta.DeleteOptions{}); err != nil {
		return nil, err
	}
	types := []watch.EventType{}
	for event := range watching.ResultChan() {
		types = append(types, event.Type)
		if event.Type == watch.Deleted || event.Type == watch.Error {
			break
		}
	}
	result["events"] = types
	return result, nil
}
