// Lays the panels of the dashboard out as Grafana imports them.
// https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
import { dashboardRows, type Panel } from './dashboard-panels.ts';

const source = { type: 'prometheus', uid: '${datasource}' };
const columns = 24;
const rowHeight = 8;

/** Returns the model that Grafana imports. It asks for no plugin and no name of a data source. */
export function dashboard(): object {
  return {
    uid: 'reeve',
    title: 'Reeve',
    tags: ['reeve'],
    schemaVersion: 39,
    editable: true,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels: Object.entries(dashboardRows).flatMap(([title, panels], index) => rowOf(title, panels, index)),
  };
}

/** A row has a title and one or two lines of panels. Each row has 100 ids and more room than it needs. */
function rowOf(title: string, panels: readonly Panel[], index: number): readonly object[] {
  const y = index * (2 * rowHeight + 1);
  const perLine = panels.every(({ as }) => as === 'stat') ? panels.length : Math.ceil(panels.length / 2);
  const w = columns / perLine;
  return [
    {
      id: index * 100 + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    },
    ...panels.map((panel, place) => ({
      ...panelOf(panel),
      id: index * 100 + place + 2,
      gridPos: {
        x: (place % perLine) * w,
        y: y + 1 + Math.floor(place / perLine) * rowHeight,
        w,
        h: panel.as === 'stat' ? rowHeight / 2 : rowHeight,
      },
    })),
  ];
}

function panelOf({ title, about, queries, unit = 'short', as }: Panel): object {
  return {
    type: as ?? 'timeseries',
    title,
    description: about,
    datasource: source,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource: source,
      expr,
      legendFormat,
      ...(as === undefined ? {} : { instant: true }),
      ...(as === 'table' ? { format: 'table' } : {}),
    })),
  };
}
