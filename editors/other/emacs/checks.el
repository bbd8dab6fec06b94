;;; checks.el --- Checks that are counted  -*- lexical-binding: t -*-

;;; Commentary:

;; Loaded by run.sh before the tests.

;;; Code:

(require 'cl-lib)

(defvar passed 0)
(defvar failed 0)

(defun check (name ok &optional what)
  "Count the check called NAME, which holds when OK; WHAT tells more."
  (if ok (cl-incf passed) (cl-incf failed))
  (message "%s %s%s" (if ok "ok" "not ok") name (if ok "" (format ": %S" what))))

(defun until (condition)
  "Let Emacs work until CONDITION returns non-nil, for 20 seconds at most."
  (with-timeout (20 nil)
    (let (value)
      (while (not (setq value (funcall condition)))
        (accept-process-output nil 0.05))
      value)))

;;; checks.el ends here
