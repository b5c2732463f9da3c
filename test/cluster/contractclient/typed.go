package main

import (
	"context"
	"maps"
	"slices"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyconfigurations "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/retry"
)

// The typed clientset asks in protobuf where it may, and must be content with JSON.
func typedScenario(ctx context.Context, c clients) (seen, error) {
	secrets := c.typed.CoreV1().Secrets(c.namespace)
	result := seen{}

	created, err := secrets.Create(ctx, &core.Secret{
		ObjectMeta: meta.ObjectMeta{Name: "typed", Labels: map[string]string{"made": "here"}},
		StringData: map[string]string{"user": "ann"},
	}, meta.CreateOptions{})
	if err != nil {
		return nil, err
	}
	result["created"] = string(created.Data["user"])
	result["type"] = created.Type

	_, err = secrets.Create(ctx, &core.Secret{ObjectMeta: meta.ObjectMeta{Name: "typed"}}, meta.CreateOptions{})
	result["isAlreadyExists"] = errors.IsAlreadyExists(err)
	_, err = secrets.Get(ctx, "nothing", meta.GetOptions{})
	result["isNotFound"] = errors.IsNotFound(err)
	_, err = secrets.Create(ctx, &core.Secret{ObjectMeta: meta.ObjectMeta{Name: "No"}}, meta.CreateOptions{})
	result["isInvalid"] = errors.IsInvalid(err)

	stale := created.DeepCopy()
	created.Labels["more"] = "here"
	if _, err = secrets.Update(ctx, created, meta.UpdateOptions{}); err != nil {
		return nil, err
	}
	_, err = secrets.Update(ctx, stale, meta.UpdateOptions{})
	result["isConflict"] = errors.IsConflict(err)
	result["retried"] = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := secrets.Get(ctx, "typed", meta.GetOptions{})
		if err != nil {
			return err
		}
		current.Labels["retried"] = "yes"
		_, err = secrets.Update(ctx, current, meta.UpdateOptions{})
		return err
	}) == nil

	patch := []byte(`{"data":{"user":null},"metadata":{"labels":{"made":"there"}}}`)
	patched, err := secrets.Patch(ctx, "typed", types.StrategicMergePatchType, patch, meta.PatchOptions{})
	if err != nil {
		return nil, err
	}
	result["patched"] = patched.Labels
	result["keysLeft"] = len(patched.Data)

	applied, err := c.typed.CoreV1().ConfigMaps(c.namespace).Apply(ctx,
		applyconfigurations.ConfigMap("applied", c.namespace).WithData(map[string]string{"a": "b"}),
		meta.ApplyOptions{FieldManager: "contract"})
	if err != nil {
		return nil, err
	}
	result["applied"] = applied.Data
	result["manager"] = applied.ManagedFields[0].Manager

	binding, err := c.typed.RbacV1().RoleBindings(c.namespace).Create(ctx, &rbac.RoleBinding{
		ObjectMeta: meta.ObjectMeta{GenerateName: "view-"},
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbac.Subject{{Kind: rbac.GroupKind, Name: "readers"}},
	}, meta.CreateOptions{})
	if err != nil {
		return nil, err
	}
	result["subjectGroup"] = binding.Subjects[0].APIGroup

	list, err := secrets.List(ctx, meta.ListOptions{LabelSelector: "made=there", FieldSelector: "metadata.name=typed"})
	if err != nil {
		return nil, err
	}
	result["listed"] = len(list.Items)
	if err = secrets.Delete(ctx, "typed", *meta.NewDeleteOptions(0)); err != nil {
		return nil, err
	}
	_, err = secrets.Get(ctx, "typed", meta.GetOptions{})
	result["isGone"] = errors.IsNotFound(err)

	resources, err := c.typed.Discovery().ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	groups := map[string]bool{}
	for _, list := range resources {
		groups[list.GroupVersion] = true
	}
	result["groups"] = slices.Sorted(maps.Keys(groups))
	return result, nil
}
