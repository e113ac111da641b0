import { defineConfig } from 'vite';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { cssCodeSplit: false, modulePreload: false, assetsInlineLimit: 1 << 20, target: 'es2022' },
});
