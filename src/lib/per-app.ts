/**
 * State that belongs to one application: `const hits = perApp((app: App) => new Map())` is a function,
 * and `hits(app)` returns the same map each time. It is created when it is first asked for, so nothing
 * has to be created in a certain order. Tests create many applications, which share nothing. A copy
 * of an application has its own state. Other objects have no `isApp`, so they are refused by type.
 */
export function perApp<App extends { isApp: true }, T>(create: (app: App) => T): (app: App) => T {
  const created = new WeakMap<App, { value: T }>();
  return (app) => {
    const known = created.get(app);
    if (known !== undefined) return known.value;
    const value = create(app);
    created.set(app, { value });
    return value;
  };
}
