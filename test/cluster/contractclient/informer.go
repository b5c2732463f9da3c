package main

import (
	"context"
	"fmt"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// An informer lists, or has its first objects streamed, and then watches: it must see every change once and in order.
func informerScenario(ctx context.Context, c clients) (seen, error) {
	configMaps := c.typed.CoreV1().ConfigMaps(c.namespace)
	create := func(name string) error {
		_, err := configMaps.Create(ctx, &core.ConfigMap{
			ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"informed": "yes"}},
		}, meta.CreateOptions{})
		return err
	}
	if err := create("before"); err != nil {
		return nil, err
	}

	onlyOurs := informers.WithTweakListOptions(func(options *meta.ListOptions) { options.LabelSelector = "informed" })
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace), onlyOurs)
	events := make(chan string, 100)
	informer := factory.Core().V1().ConfigMaps().Informer()
	tell := func(what string, object any) { events <- what + " " + object.(*core.ConfigMap).Name }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("added", object) },
		UpdateFunc: func(_, object any) { tell("updated", object) },
		DeleteFunc: func(object any) { tell("deleted", object) },
	}); err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, fmt.Errorf("the informer did not sync")
	}

	told := []string{}
	hear := func(err error) error {
		if err != nil {
			return err
		}
		select {
		case event := <-events:
			told = append(told, event)
			return nil
		case <-ctx.Done():
			return fmt.Errorf("no event after %v", told)
		}
	}
	if err := hear(nil); err != nil {
		return nil, err
	}
	if err := hear(create("after")); err != nil {
		return nil, err
	}
	object, err := configMaps.Get(ctx, "after", meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	object.Data = map[string]string{"a": "b"}
	_, err = configMaps.Update(ctx, object, meta.UpdateOptions{})
	if err = hear(err); err != nil {
		return nil, err
	}
	err = configMaps.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{FieldSelector: "metadata.name=before"})
	if err = hear(err); err != nil {
		return nil, err
	}
	cached, err := factory.Core().V1().ConfigMaps().Lister().ConfigMaps(c.namespace).Get("after")
	if err != nil {
		return nil, err
	}
	return seen{"events": told, "cached": cached.Data}, nil
}
