/**
 * State that belongs to one application: `const hits = perApp((app: App) => new Map())` is a function,
 * and `hits(app)` returns the same map each time. It is created when it is first asked for, so nothing
 * has to be created in a certain order. Tests create many applications, which share nothing.
 */
export function perApp<App extends object, T>(create: (app: App) => T): (app: App) => T {
  const created = new WeakMap<App, { value: T }>();
  return (app) => {
    const known = created.get(app);
    if (known !== undefined) return known.value;
    const value = create(app);
    created.set(app, { value });
    return value;
  };
}
