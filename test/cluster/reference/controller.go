package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	sourceNamespace = "reeve-shared"
	bindingName     = "bench"
)

// What https://github.com/kubernetes/sample-controller does: informers, a queue of names, and workers that compare and write.
type controller struct {
	client     kubernetes.Interface
	prefix     string
	source     string
	factory    informers.SharedInformerFactory
	namespaces corelisters.NamespaceLister
	secrets    corelisters.SecretLister
	bindings   rbaclisters.RoleBindingLister
	queue      workqueue.TypedRateLimitingInterface[string]
}

func newController(client kubernetes.Interface, prefix, source string) *controller {
	factory := informers.NewSharedInformerFactory(client, 0)
	return &controller{
		client:     client,
		prefix:     prefix,
		source:     source,
		factory:    factory,
		namespaces: factory.Core().V1().Namespaces().Lister(),
		secrets:    factory.Core().V1().Secrets().Lister(),
		bindings:   factory.Rbac().V1().RoleBindings().Lister(),
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
}

func (c *controller) run(ctx context.Context, workers int) error {
	if err := c.listen(); err != nil {
		return err
	}
	c.factory.Start(ctx.Done())
	for kind, synced := range c.factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("the cache of %v did not sync", kind)
		}
	}
	fmt.Println("synced")
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
	return nil
}

func (c *controller) listen() error {
	isOurs := func(object any) bool {
		namespace, ok := object.(*core.Namespace)
		return ok && strings.HasPrefix(namespace.Name, c.prefix)
	}
	onNamespace := cache.FilteringResourceEventHandler{
		FilterFunc: isOurs,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(object any) { c.queue.Add(object.(*core.Namespace).Name) },
		},
	}
	if _, err := c.factory.Core().V1().Namespaces().Informer().AddEventHandler(onNamespace); err != nil {
		return err
	}
	isSource := func(object any) bool {
		secret, ok := object.(*core.Secret)
		return ok && secret.Namespace == sourceNamespace && secret.Name == c.source
	}
	onSource := cache.FilteringResourceEventHandler{
		FilterFunc: isSource,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { c.addAll() },
			UpdateFunc: func(any, any) { c.addAll() },
		},
	}
	if _, err := c.factory.Core().V1().Secrets().Informer().AddEventHandler(onSource); err != nil {
		return err
	}
	c.factory.Rbac().V1().RoleBindings().Informer()
	return nil
}

func (c *controller) addAll() {
	namespaces, err := c.namespaces.List(labels.Everything())
	if err != nil {
		return
	}
	for _, namespace := range namespaces {
		if strings.HasPrefix(namespace.Name, c.prefix) {
			c.queue.Add(namespace.Name)
		}
	}
}

func (c *controller) next(ctx context.Context) bool {
	name, isShutDown := c.queue.Get()
	if isShutDown {
		return false
	}
	defer c.queue.Done(name)
	if err := c.reconcile(ctx, name); err != nil {
		c.queue.AddRateLimited(name)
	} else {
		c.queue.Forget(name)
	}
	return true
}

func (c *controller) reconcile(ctx context.Context, namespace string) error {
	if err := c.bind(ctx, namespace); err != nil {
		return err
	}
	source, err := c.secrets.Secrets(sourceNamespace).Get(c.source)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.copy(ctx, source, namespace)
}

func (c *controller) bind(ctx context.Context, namespace string) error {
	if _, err := c.bindings.RoleBindings(namespace).Get(bindingName); !errors.IsNotFound(err) {
		return err
	}
	_, err := c.client.RbacV1().RoleBindings(namespace).Create(ctx, &rbac.RoleBinding{
		ObjectMeta: meta.ObjectMeta{Name: bindingName},
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbac.Subject{{APIGroup: rbac.GroupName, Kind: "Group", Name: "team-" + namespace}},
	}, meta.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (c *controller) copy(ctx context.Context, source *core.Secret, namespace string) error {
	secrets := c.client.CoreV1().Secrets(namespace)
	live, err := c.secrets.Secrets(namespace).Get(source.Name)
	if errors.IsNotFound(err) {
		_, err = secrets.Create(ctx, &core.Secret{
			ObjectMeta: meta.ObjectMeta{Name: source.Name}, Type: source.Type, Data: source.Data,
		}, meta.CreateOptions{})
		return err
	}
	if err != nil || reflect.DeepEqual(live.Data, source.Data) {
		return err
	}
	changed := live.DeepCopy()
	changed.Data = source.Data
	_, err = secrets.Update(ctx, changed, meta.UpdateOptions{})
	return err
}
