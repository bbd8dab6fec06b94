-- :checkhealth xcsh

local M = {}

local function check_server()
  local health = vim.health
  local cmd, problem = require('xcsh.config').command()
  if not cmd then
    return health.error(problem --[[@as string]])
  end
  local ok, done = pcall(function()
    return vim.system({ cmd[1], 'version' }, { text = true }):wait(5000)
  end)
  if ok and done.code == 0 then
    health.ok(('%s: %s'):format(vim.fn.exepath(cmd[1]), vim.trim(done.stdout)))
  else
    local said = ok and vim.trim(done.stderr or '') or tostring(done)
    health.error(('"%s version" failed: %s'):format(cmd[1], said))
  end
end

local function check_connection()
  local health = vim.health
  local client = require('xcsh.client').get()
  if not client then
    health.info('The server is not running; the first command starts it.')
  else
    health.ok('The server is running for:')
    for _, folder in ipairs(client.workspace_folders or {}) do
      health.info(folder.name)
    end
  end
  -- What the server writes to stderr ends up here.
  health.info('Log: ' .. require('vim.lsp.log').get_filename())
end

function M.check()
  vim.health.start('xcsh')
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim 0.10 or newer is needed.')
  end
  check_server()
  check_connection()
  local register = require('xcsh.config').register()
  vim.health.info(('":XcshDump!" copies to register %s'):format(register))
end

return M
