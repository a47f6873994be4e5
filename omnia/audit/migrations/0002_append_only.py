"""Append-only, held by the database: an audit row can be neither changed nor removed."""

from django.db import migrations

PROTECT = """
CREATE FUNCTION omnia_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit rows are append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER omnia_audit_no_change BEFORE UPDATE OR DELETE ON omnia_audit
    FOR EACH ROW EXECUTE FUNCTION omnia_audit_append_only();
CREATE TRIGGER omnia_audit_no_truncate BEFORE TRUNCATE ON omnia_audit
    FOR EACH STATEMENT EXECUTE FUNCTION omnia_audit_append_only();
"""
RELEASE = """
DROP TRIGGER omnia_audit_no_truncate ON omnia_audit;
DROP TRIGGER omnia_audit_no_change ON omnia_audit;
DROP FUNCTION omnia_audit_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("omnia_audit", "0001_initial")]
    operations = [migrations.RunSQL(PROTECT, RELEASE)]
