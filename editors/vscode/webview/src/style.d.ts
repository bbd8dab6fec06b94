// Style sheets are bundled, and give nothing to import.
declare module '*.css';
